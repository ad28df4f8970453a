import { Dialog } from '@base-ui/react/dialog';
import { type ReactNode, type RefObject, useState } from 'react';

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
  opener,
  title,
  busy = false,
  finalFocus,
  children,
}: {
  open: boolean;
  onOpenChange: (open: boolean) => void;
  /** The button that opens it, which gets the focus when the drawer closes. */
  opener: RefObject<HTMLElement | null>;
  title: ReactNode;
  /** Whether it has to stay open. */
  busy?: boolean;
  /** What gets the focus instead of the opener. */
  finalFocus?: () => HTMLElement | undefined;
  children: ReactNode;
}) {
  if (!useOpened(open)) return null;
  return (
    <Dialog.Root open={open} onOpenChange={onOpenChange}>
      <Dialog.Portal>
        <Dialog.Backdrop className="backdrop" />
        <Dialog.Popup className="drawer" finalFocus={() => finalFocus?.() ?? opener.current ?? true}>
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
