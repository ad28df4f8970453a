import { Dialog } from '@base-ui/react/dialog';
import type { Call } from '../lib/call.ts';
import { Code } from './code.tsx';
import { Drawer } from './drawer.tsx';

/** Shows the requests of a page or a form as code: those that the console itself sends. */
export function AsCode({ calls, terraform }: { calls: readonly Call[]; terraform?: string | undefined }) {
  return (
    <Dialog.Root>
      <Dialog.Trigger className="button">As code</Dialog.Trigger>
      <Drawer title="As code">
        <Code calls={calls} terraform={terraform} />
      </Drawer>
    </Dialog.Root>
  );
}
