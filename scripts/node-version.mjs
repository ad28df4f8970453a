// Nothing here that an old Node can't read: it must be able to say that Node is too old.
const OLDEST_NODE = [20, 19];

/** @throws Error if this Node is too old */
export function checkNode() {
  const [major, minor] = process.versions.node.split('.').map(Number);
  if (major > OLDEST_NODE[0] || (major === OLDEST_NODE[0] && minor >= OLDEST_NODE[1])) return;
  throw new Error(
    `Node ${OLDEST_NODE.join('.')} or newer is needed, this is ${process.versions.node}. Get one from https://nodejs.org/en/download.`,
  );
}
