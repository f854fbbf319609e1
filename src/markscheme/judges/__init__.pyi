from .weight_folder import save_rarity as save_rarity
