"""Language models behind one small protocol: stream a chat, count tokens, describe yourself."""
