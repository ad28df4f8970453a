import { Dialog } from '@base-ui/react/dialog';
import { type ReactNode, useState } from 'react';

/** Whether something is open, or has been: what nobody has opened yet costs nothing. */
export function useOpened(open: boolean): boolean {
  const [opened, setOpened] = useState(open);
  if (open && !opened) setOpened(true);
  return opened;
}

/** A dialog beside the page. Each row of a list may have one. */
export function Drawer({
  open,
  onOpenChange,
  title,
  busy = false,
  finalFocus,
  children,
}: {
  open: boolean;
  onOpenChange: (open: boolean) => void;
  title: ReactNode;
  /** Whether it has to stay open. */
  busy?: boolean;
  /** Gets the focus when the drawer closes; by default, what had it before does. */
  finalFocus?: () => HTMLElement | true;
  children: ReactNode;
}) {
  if (!useOpened(open)) return null;
  return (
    <Dialog.Root open={open} onOpenChange={onOpenChange}>
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
    </Dialog.Root>
  );
}
