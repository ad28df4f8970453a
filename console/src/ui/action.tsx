import type { ReactNode } from 'react';
import { useRefusal } from '../lib/permissions.ts';

/** A button of an operation. One that the person may not call is disabled, and says why. */
export function Action({
  operation,
  project,
  disabled,
  tone = '',
  type = 'button',
  onClick,
  children,
}: {
  operation: string;
  /** Where it is called, if that is another project than the one of the page. */
  project?: number | undefined;
  disabled?: string | undefined;
  tone?: 'primary' | 'danger' | 'quiet' | '';
  type?: 'button' | 'submit';
  onClick?: () => void;
  children: ReactNode;
}) {
  const why = useRefusal(project)(operation) ?? disabled;
  return (
    <button
      type={type}
      className={`button ${tone}`}
      disabled={why !== undefined}
      title={why}
      data-operation={operation}
      onClick={onClick}
    >
      {children}
    </button>
  );
}
