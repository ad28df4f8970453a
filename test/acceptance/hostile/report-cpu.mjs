// Loaded before the server (node --import): tells the process that started it how much CPU time it has used.
process.on('message', () => process.send?.(process.cpuUsage()));
