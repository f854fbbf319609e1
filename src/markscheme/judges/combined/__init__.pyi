from .nested import ask as ask
