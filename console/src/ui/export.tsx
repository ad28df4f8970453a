import { useState } from 'react';
import * as api from '../lib/api.ts';
import { Action } from './action.tsx';
import { useToasts } from './toasts.tsx';

/** Saves something as a file. */
export function keep(body: Blob, name: string): void {
  const address = URL.createObjectURL(body);
  const link = document.createElement('a');
  link.href = address;
  link.download = name;
  link.click();
  URL.revokeObjectURL(address);
}

/** Saves everything that matches as a file, as the API writes it. */
export function Export({
  operation,
  path,
  accept,
  file,
  children,
}: {
  operation: string;
  /** With the query. */
  path: string;
  accept: string;
  /** The name of the file. */
  file: string;
  children: string;
}) {
  const [busy, setBusy] = useState(false);
  const said = useToasts();
  async function save() {
    setBusy(true);
    try {
      keep(await api.file(path, { accept }), file);
    } catch (error) {
      said.add({ title: 'Not exported', description: (error as Error).message, type: 'bad' });
    } finally {
      setBusy(false);
    }
  }
  return (
    <Action operation={operation} disabled={busy ? 'It is being written' : undefined} onClick={() => void save()}>
      {children}
    </Action>
  );
}
