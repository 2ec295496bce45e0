"""For those who bring a framework: functions that come with their own derivatives."""
