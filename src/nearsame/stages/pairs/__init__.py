"""What stands between candidates and answers: measures, the join, the audit."""
