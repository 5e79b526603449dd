"""From references to units: sentences, frames, triplets, coreference, alignment."""
