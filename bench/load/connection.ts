import net from 'node:net';

const HEAD_END = Buffer.from('\r\n\r\n');

export interface Answer {
  status: number;
  /** Only of answers that aren't 2xx. */
  text: string;
}

/**
 * Opens a keep-alive connection for one request at a time. It only parses what a measurement needs: the
 * status and the end of the answer. Both servers send a content-length with every answer.
 */
export function openConnection(port: number, answered: (answer: Answer) => void): net.Socket {
  let pending: Buffer | undefined;
  const socket = net.connect({ port, host: '127.0.0.1', noDelay: true });
  socket.on('data', (chunk) => {
    pending = pending ? Buffer.concat([pending, chunk]) : chunk;
    const headEnd = pending.indexOf(HEAD_END);
    if (headEnd < 0) return;
    const head = pending.toString('latin1', 0, headEnd);
    const length = Number(/content-length: (\d+)/i.exec(head)?.[1] ?? 0);
    const end = headEnd + HEAD_END.length + length;
    if (pending.length < end) return;
    const status = Number(head.slice('HTTP/1.1 '.length, 'HTTP/1.1 200'.length));
    const text = status < 300 ? '' : pending.toString('utf8', 0, end);
    pending = undefined;
    answered({ status, text });
  });
  return socket;
}
