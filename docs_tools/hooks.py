"""What mkdocs calls while it builds the site: makes pages, leads links that leave docs/, refuses what is loaded."""

from pathlib import Path
from typing import Any

from mkdocs.exceptions import PluginError
from mkdocs.structure.files import File

from docs_tools import built, links, pages
from docs_tools.commands import commands_page
from docs_tools.params import params_page
from docs_tools.reference import literature_page, reference_pages

ROOT = pages.ROOT


def on_files(files: Any, config: Any) -> Any:
    """Adds the pages that are made of README.md, of the code, and of files that other pages link to."""
    texts = {
        f"docs/{file.src_uri}": Path(file.abs_src_path).read_text(encoding="utf-8")
        for file in files.documentation_pages()
    }
    texts |= {name: read(name) for name in ("README.md", *pages.WHOLE)}
    made = {page: links.rewritten(text, origin="README.md", page=page) for page, text in _readme().items()}
    made |= {page: links.rewritten(texts[name], origin=name, page=page) for name, page in pages.WHOLE.items()}
    made |= reference_pages(ROOT / "src" / "elman")
    made["reference/commands.md"] = commands_page()
    made["reference/params.md"] = params_page(ROOT / "params.yaml")
    made["reference/literature.md"] = literature_page(read("docs/references.bib"))
    for path in sorted(links.outside(texts)):
        made[links.page_of(path)] = links.file_page(path, read)
    for page, text in made.items():
        inclusion = _not_in_nav() if page.startswith("files/") else None
        extra = {"inclusion": inclusion} if inclusion is not None else {}
        files.append(File.generated(config, page, content=text, **extra))
    return files


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """Leads links that leave docs/ to their pages."""
    if page.file.generated_by is not None:
        return markdown
    return links.rewritten(markdown, origin=f"docs/{page.file.src_uri}", page=page.file.src_uri)


def on_post_page(output: str, page: Any, **_: Any) -> str:
    """Refuses a page that would load something from elsewhere when it is read."""
    if found := built.loaded_from_elsewhere(output):
        raise PluginError(f"{page.file.src_uri}: loads {', '.join(found)} from elsewhere")
    return output


def on_post_build(config: Any, **_: Any) -> None:
    """Refuses a link that leads nowhere: mkdocs looks at those of Markdown only, and docstrings become HTML."""
    if found := built.broken_links(Path(config.site_dir)):
        raise PluginError("\n".join(found))


def _readme() -> dict[str, str]:
    try:
        return pages.readme_pages(read("README.md"))
    except ValueError as error:
        raise PluginError(str(error)) from None


def read(path: str) -> str:
    """The text of a file of the repository."""
    file = ROOT / path
    if not file.is_file():
        raise PluginError(f"{path}: a page links to it, and it is no file of the repository")
    return file.read_text(encoding="utf-8")


def _not_in_nav() -> Any:
    from mkdocs.structure.files import InclusionLevel

    return InclusionLevel.NOT_IN_NAV
