"""The made-up rows that every export holds: question, references, answer, whether it is right."""

ROWS = [
    ("Which river flows through Brennfurt?", ["the Alder", "Alder"], "The Alder.", True),
    ("Who painted 'The Grey Harbour'?", ["Mira Tolland"], "It was painted by Jon Asker.", False),
    ("In which year was the Café Müller founded?", ["1931"], "1931", True),
]
