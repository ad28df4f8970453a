module example.com/tradewindtest

go 1.22
