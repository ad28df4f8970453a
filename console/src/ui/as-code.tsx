import { Dialog } from '@base-ui/react/dialog';
import type { Call } from '../lib/call.ts';
import { Code } from './code.tsx';

/** Shows the requests of a page or a form as code: those that the console itself sends. */
export function AsCode({ calls, terraform }: { calls: readonly Call[]; terraform?: string | undefined }) {
  return (
    <Dialog.Root>
      <Dialog.Trigger className="button">As code</Dialog.Trigger>
      <Dialog.Portal>
        <Dialog.Backdrop className="backdrop" />
        <Dialog.Popup className="drawer">
          <div className="row">
            <Dialog.Title>As code</Dialog.Title>
            <Dialog.Close className="button quiet">Close</Dialog.Close>
          </div>
          <Code calls={calls} terraform={terraform} />
        </Dialog.Popup>
      </Dialog.Portal>
    </Dialog.Root>
  );
}
