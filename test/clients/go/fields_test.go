package clients

type operation struct{}
