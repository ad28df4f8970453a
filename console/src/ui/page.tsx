import { useNavigate } from '@tanstack/react-router';
import { type ReactNode, useId } from 'react';
import { type Search, useFilters } from '../lib/search.ts';
import { useOpened } from './drawer.tsx';
import { Unread } from './fault.tsx';

/** A page: its title, what can be done, and what it shows. */
export function Page({
  title,
  actions,
  crumbs,
  children,
}: {
  title: string;
  actions?: ReactNode;
  crumbs?: readonly ReactNode[];
  children: ReactNode;
}) {
  return (
    <div className="page">
      <header>
        {crumbs && (
          <nav className="crumbs" aria-label="Where this is">
            <ol>
              {crumbs.map((crumb, at) => (
                // biome-ignore lint/suspicious/noArrayIndexKey: they never change places
                <li key={at}>{crumb}</li>
              ))}
            </ol>
          </nav>
        )}
        <h1>{title}</h1>
        {actions && <div className="actions">{actions}</div>}
      </header>
      {children}
    </div>
  );
}

/** A part of a page, with a heading and what is said beside it. */
export function Section({ title, aside, children }: { title: ReactNode; aside?: ReactNode; children: ReactNode }) {
  const id = useId();
  return (
    <section className="card" aria-labelledby={id}>
      <header>
        <h2 id={id}>{title}</h2>
        {aside}
      </header>
      {children}
    </section>
  );
}

/** Shows or hides the form of a page that makes something, by the address. */
export function useNewForm(): [open: boolean, setOpen: (open: boolean) => void] {
  const navigate = useNavigate();
  const open = useFilters().new !== undefined;
  const setOpen = (wanted: boolean) =>
    void navigate({
      to: '.',
      search: (({ new: _, ...others }: Search) => ({ ...others, ...(wanted && { new: 'yes' }) })) as never,
      replace: true,
      resetScroll: false,
    });
  return [open, setOpen];
}

/** The form that makes something, above the list of what there is. */
export function NewForm({ title, children }: { title: string; children: ReactNode }) {
  const [open, setOpen] = useNewForm();
  const opened = useOpened(open);
  return (
    <details
      className="card"
      open={open}
      onToggle={({ currentTarget }) => currentTarget.open !== open && setOpen(currentTarget.open)}
    >
      <summary className="inside">{title}</summary>
      {opened && (
        <form className="form inside" onSubmit={(event) => event.preventDefault()}>
          {children}
        </form>
      )}
    </details>
  );
}

/** A page about one thing, until that has been read. */
export function UnreadPage({ title, error, again }: { title: string; error: object | null; again: () => unknown }) {
  if (!error) return <Unread />;
  return (
    <Page title={title}>
      <Unread error={error} again={again} />
    </Page>
  );
}
