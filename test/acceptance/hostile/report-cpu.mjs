// Loaded before the server (node --import): reports its CPU time to the process that started it.
process.on('message', () => process.send?.(process.cpuUsage()));
