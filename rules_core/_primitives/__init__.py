"""One function in every framework: its handle, its flags, and whose arrays it got."""
