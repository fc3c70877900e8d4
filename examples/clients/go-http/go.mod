module example/send-events

go 1.24
