"""arcf inside other libraries, one file each; importing a file imports its library.

langchain.py       a retriever for LangChain
llama_index.py     a retriever for LlamaIndex
haystack.py        a component for Haystack
cross_encoder.py   `predict` and `rank`, as in sentence-transformers
"""
