"""An output proved again from its sources, by code that shares nothing with what made it.

1. Nothing here imports a kernel, a stage, an engine or a source of the product: .importlinter says so, and is run.
2. Tokens are strings, shingles are tuples of them, similarities are fractions: no 64-bit hash decides anything.
3. What is not read here (archives, web pages, Arrow files) is read by the product; whoever calls hands that in, and the
   verdict says so.
"""
