pytest_plugins = ["tradewind_testing"]
