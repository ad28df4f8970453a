import { Dialog } from '@base-ui/react/dialog';
import type { ReactNode } from 'react';

/** What a dialog shows, beside the page. */
export function Drawer({
  title,
  busy = false,
  finalFocus,
  children,
}: {
  title: ReactNode;
  /** Whether it has to stay open. */
  busy?: boolean;
  /** Gets the focus when the drawer closes; by default, the button that opened it does. */
  finalFocus?: () => HTMLElement | true;
  children: ReactNode;
}) {
  return (
    <Dialog.Portal>
      <Dialog.Backdrop className="backdrop" />
      <Dialog.Popup className="drawer" {...(finalFocus && { finalFocus })}>
        <div className="row">
          <Dialog.Title>{title}</Dialog.Title>
          <Dialog.Close className="button quiet" disabled={busy}>
            Close
          </Dialog.Close>
        </div>
        {children}
      </Dialog.Popup>
    </Dialog.Portal>
  );
}
