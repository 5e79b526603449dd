"""What people are asked, what they answered, and how well they agree."""
