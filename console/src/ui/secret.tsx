import { Dialog } from '@base-ui/react/dialog';
import { Copy } from './copy.tsx';

/** A secret that the server says once. Once this is closed, nothing of the page knows it. */
export function Secret({
  title,
  value,
  variable,
  label = 'Secret',
  note = 'Copy it to where it is kept.',
  onClose,
}: {
  title: string;
  value: string | undefined;
  /** The variable that programs take it from, if any do. */
  variable?: string;
  /** What it is. */
  label?: string;
  /** What to do with it. */
  note?: string;
  onClose: () => void;
}) {
  return (
    <Dialog.Root open={value !== undefined} onOpenChange={(open) => open || onClose()} disablePointerDismissal>
      <Dialog.Portal>
        <Dialog.Backdrop className="backdrop" />
        <Dialog.Popup className="dialog">
          <Dialog.Title>{title}</Dialog.Title>
          <Dialog.Description>This is shown once, and can’t be read anywhere afterwards. {note}</Dialog.Description>
          {value !== undefined && (
            <dl className="facts">
              <dt>{label}</dt>
              <dd className="row">
                <code className="name">{value}</code> <Copy text={value} label={`Copy the ${label.toLowerCase()}`} />
              </dd>
              {variable && (
                <>
                  <dt>For a shell</dt>
                  <dd className="row">
                    <code className="name">
                      export {variable}={value}
                    </code>{' '}
                    <Copy text={`export ${variable}=${value}`} label="Copy as an environment variable" />
                  </dd>
                </>
              )}
            </dl>
          )}
          <div className="end">
            <Dialog.Close className="button primary">I have copied it</Dialog.Close>
          </div>
        </Dialog.Popup>
      </Dialog.Portal>
    </Dialog.Root>
  );
}
