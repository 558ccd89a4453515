"""How the documentation's site is made of docs/, README.md and the code; nothing of it is part of the package."""
