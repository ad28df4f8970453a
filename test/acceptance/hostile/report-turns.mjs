// Loaded before the server (node --import): reports the CPU time of the longest turn of its event loop, with that of its other threads meanwhile, to the process that started it.

const REPETITIONS = 25;

let begun = used();
let longest = 0;
turn();

process.on('message', (what) => {
  if (what === 'reference') {
    process.send?.(reference());
    return;
  }
  process.send?.(Math.max(longest, used() - begun));
  longest = 0;
  begun = used();
});

/** Comes by once in each turn, and keeps the loop neither awake nor alive. */
function turn() {
  const now = used();
  longest = Math.max(longest, now - begun);
  begun = now;
  setImmediate(turn).unref();
}

function used() {
  const { user, system } = process.cpuUsage();
  return user + system;
}

/** Returns the median time for a work like that of a server: it reads and writes JSON. */
function reference() {
  const text = JSON.stringify(Array.from({ length: 20_000 }, (_, id) => ({ id, name: `name-${id}` })));
  const times = Array.from({ length: REPETITIONS }, () => {
    const before = used();
    JSON.stringify(JSON.parse(text));
    return used() - before;
  });
  return times.sort((one, other) => one - other)[Math.floor(REPETITIONS / 2)];
}
