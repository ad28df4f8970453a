import { createHub } from './hub.ts';

const serve = createHub();
(self as unknown as { onconnect: (event: MessageEvent) => void }).onconnect = ({ ports: [port] }) => {
  if (port) serve(port);
};
