"""torch.export."""
