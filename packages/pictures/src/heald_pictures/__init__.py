"""Pictures of pages: their elements, colours, fonts and scale, for the studio and the local converter."""
