"""What the paper ran: its systems, tables and figures, made again."""
