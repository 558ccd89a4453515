"""The style sheet of the report page: light and dark, phone and paper; nothing is loaded from elsewhere."""

CSS = """
:root { color-scheme: light dark; --ground: #ffffff; --text: #1c1e21; --soft: #5b626b; --line: #d5d8dd;
  --panel: #f5f6f8; --accent: #2b6cb0; }
@media (prefers-color-scheme: dark) { :root { --ground: #14171b; --text: #e6e8eb; --soft: #a3abb5; --line: #3a4049;
  --panel: #1c2026; --accent: #7fb4e6; } }
* { box-sizing: border-box; }
body { margin: 0 auto; padding: 1.5rem 1rem 3rem; max-width: 62rem; background: var(--ground); color: var(--text);
  font: 16px/1.5 system-ui, sans-serif; }
h1 { font-size: 1.5rem; line-height: 1.25; margin: 0 0 .25rem; }
h2 { font-size: 1.15rem; margin: 2rem 0 .5rem; border-bottom: 1px solid var(--line); padding-bottom: .25rem; }
.soft, figcaption, caption { color: var(--soft); font-size: .875rem; }
p { margin: .5rem 0; max-width: 46rem; }
.verdict { background: var(--panel); border-left: 4px solid var(--accent); padding: .75rem 1rem; margin: 1rem 0; }
.verdict p:first-child { margin-top: 0; font-weight: 600; } .verdict p:last-child { margin-bottom: 0; }
table { border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums; }
caption { text-align: left; caption-side: bottom; padding-top: .5rem; }
th, td { padding: .4rem .6rem; text-align: right; border-bottom: 1px solid var(--line); vertical-align: top; }
th:first-child, td:first-child { text-align: left; } thead th { font-size: .8125rem; color: var(--soft); }
tbody th { font-weight: 600; } tr.baseline { color: var(--soft); } table.cards tbody th { white-space: nowrap; }
td small { display: block; color: var(--soft); white-space: nowrap; }
.figures { display: flex; flex-wrap: wrap; gap: 1rem; } .figures figure { flex: 1 1 19rem; }
figure { margin: .5rem 0; min-width: 0; } svg { display: block; height: auto; }
.scroll, .wide { overflow-x: auto; }
.columns { display: flex; flex-wrap: wrap; gap: 0 2rem; align-items: flex-start; }
.columns > div { flex: 1 1 18rem; min-width: 0; } .columns > div:first-child { flex: 1.6 1 24rem; }
.columns th, .columns td { padding: .2rem .6rem .2rem 0; } .columns tbody th { font-weight: 400; }
table.texts td, table.texts th { text-align: left; } table.texts td:last-child { min-width: 16rem; }
details { margin: .5rem 0; } summary { cursor: pointer; color: var(--accent); }
dl { display: grid; grid-template-columns: minmax(9rem, max-content) 1fr; gap: .25rem 1rem; margin: .75rem 0; }
dt { color: var(--soft); } dd { margin: 0; overflow-wrap: anywhere; }
pre { background: var(--panel); padding: .75rem 1rem; overflow-x: auto; border-radius: 4px; }
@media (max-width: 44rem) {
  table.cards thead { position: absolute; clip-path: inset(50%); width: 1px; height: 1px; overflow: hidden; }
  table.cards, table.cards tbody, table.cards tr, table.cards th, table.cards td, table.cards caption
    { display: block; }
  table.cards tr { border: 1px solid var(--line); border-radius: 6px; margin: .75rem 0; padding: .5rem .75rem; }
  table.cards tbody th { border: 0; padding: 0 0 .25rem; font-size: 1.05rem; }
  table.cards td { border: 0; padding: .15rem 0; display: flex; justify-content: space-between; gap: 1rem; }
  table.cards td::before { content: attr(data-label); color: var(--soft); text-align: left; }
  table.cards td:empty { display: none; }
  .scroll table { font-size: .875rem; } .scroll th, .scroll td { padding: .35rem .25rem; }
  .scroll tbody th { font-weight: 400; overflow-wrap: break-word; }
  dl { grid-template-columns: 1fr; gap: 0; } dd { margin-bottom: .5rem; }
}
@media print { body { max-width: none; font-size: 11pt; padding: 0; } h2 { break-after: avoid; }
  figure, tr, .verdict { break-inside: avoid; } details::details-content { content-visibility: visible; height: auto; }
  :root { --ground: #fff; --text: #000; --soft: #444; --line: #bbb; --panel: #f5f5f5; --accent: #2b6cb0; } }
"""
