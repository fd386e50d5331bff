"""What results say: claims, figures, tables and pages."""
