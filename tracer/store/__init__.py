"""Where do checkpoints live? Tables, the writer, every SELECT, and objects by digest."""
