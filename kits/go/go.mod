module tradewind.example/tradewindtest

go 1.22
