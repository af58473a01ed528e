"""Runs basic_ask to its end with the official Python client (mcp 2.3) over Streamable HTTP.

    python client.py http://127.0.0.1:PORT/mcp
"""
