import type { ReactNode, RefObject } from 'react';
import { useRefusal } from '../lib/permissions.ts';

/** A button of an operation. One that the person may not call is disabled, and says why. */
export function Action({
  operation,
  project,
  disabled,
  tone = '',
  type = 'button',
  opener,
  onClick,
  children,
}: {
  operation: string;
  /** Where it is called, if that is another project than the one of the page. */
  project?: number | undefined;
  disabled?: string | undefined;
  tone?: 'primary' | 'danger' | 'quiet' | '';
  type?: 'button' | 'submit';
  /** Of a button that opens a dialog, which gives the focus back to it. */
  opener?: RefObject<HTMLButtonElement | null>;
  onClick?: () => void;
  children: ReactNode;
}) {
  const why = useRefusal(project)(operation) ?? disabled;
  return (
    <button
      ref={opener}
      type={type}
      className={`button ${tone}`}
      disabled={why !== undefined}
      title={why}
      data-operation={operation}
      aria-haspopup={opener && 'dialog'}
      onClick={onClick}
    >
      {children}
    </button>
  );
}
