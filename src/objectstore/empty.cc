namespace swamp {}
