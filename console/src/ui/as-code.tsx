import { useRef, useState } from 'react';
import type { Call } from '../lib/call.ts';
import { Code } from './code.tsx';
import { Drawer } from './drawer.tsx';

/** Shows the requests of a page or a form as code: those that the console itself sends. */
export function AsCode({ calls }: { calls: readonly Call[] }) {
  const [open, setOpen] = useState(false);
  const button = useRef<HTMLButtonElement>(null);
  return (
    <>
      <button ref={button} type="button" className="button" aria-haspopup="dialog" onClick={() => setOpen(true)}>
        As code
      </button>
      <Drawer open={open} onOpenChange={setOpen} opener={button} title="As code">
        <Code calls={calls} />
      </Drawer>
    </>
  );
}
