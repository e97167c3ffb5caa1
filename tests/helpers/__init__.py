"""What tests share: matrices with a known answer, files as people have them, commands, pages and models."""
