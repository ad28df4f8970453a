import { type ReactNode, useRef, useState } from 'react';
import type { Call } from '../lib/call.ts';
import { changedFields } from '../lib/changes.ts';
import { Action } from './action.tsx';
import { Drawer } from './drawer.tsx';
import { type Form, useForm } from './field.tsx';
import { Review } from './review.tsx';

/** A button that opens a form. The request that the form makes is reviewed before it is sent. */
export function FormDrawer<Values extends object>({
  operation,
  project,
  label,
  title,
  tone,
  initial,
  disabled,
  apply,
  edits,
  call,
  says,
  onApplied,
  children,
}: {
  operation: string;
  project?: number | undefined;
  /** What the button says that opens the form. */
  label: string;
  title: string;
  tone?: 'primary' | 'danger' | 'quiet';
  /** What the form begins with. */
  initial: Values;
  disabled?: string | undefined;
  /** What the button says that sends it, such as "Create". */
  apply: string;
  /** Whether it changes what is there: it is sent only if something was changed. */
  edits?: boolean;
  /** The request, of all fields or of those that were changed since the form opened. */
  call: (values: Values, changed: Partial<Values>) => Call;
  /** What the review says of it, besides what the server does. */
  says?: (values: Values) => ReactNode;
  onApplied?: (answer: unknown) => void;
  children: (form: Form<Values>) => ReactNode;
}) {
  const [open, setOpen] = useState(false);
  const [before, setBefore] = useState(initial);
  const form = useForm(initial);
  const { values } = form;
  const element = useRef<HTMLFormElement>(null);
  const button = useRef<HTMLButtonElement>(null);
  const changed = changedFields(before, values);

  function begin() {
    setBefore(initial);
    form.reset();
    setOpen(true);
  }

  return (
    <>
      <Action
        opener={button}
        operation={operation}
        project={project}
        disabled={disabled}
        tone={tone ?? ''}
        onClick={begin}
      >
        {label}
      </Action>
      <Drawer open={open} onOpenChange={setOpen} opener={button} title={title}>
        <form ref={element} className="form" onSubmit={(event) => event.preventDefault()}>
          {children(form)}
          <div className="row">
            <Review
              operation={operation}
              project={project}
              label={apply}
              title={`${title.replace(/\?$/, '')}: what it does`}
              tone={tone === 'danger' ? 'danger' : 'primary'}
              disabled={edits && Object.keys(changed).length === 0 ? 'Nothing is changed' : undefined}
              call={() => (element.current?.reportValidity() ? call(values, changed) : undefined)}
              onApplied={(answer) => {
                setOpen(false);
                onApplied?.(answer);
              }}
              onRefused={form.take}
            >
              {says?.(values)}
            </Review>
          </div>
        </form>
      </Drawer>
    </>
  );
}
