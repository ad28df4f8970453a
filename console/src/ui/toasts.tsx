import { Toast } from '@base-ui/react/toast';
import type { ReactNode } from 'react';

export const useToasts = Toast.useToastManager;

/** Short messages about what was done elsewhere on the page. Screen readers say them. */
export function Toasts({ children }: { children: ReactNode }) {
  return (
    <Toast.Provider timeout={6_000}>
      {children}
      <Toast.Portal>
        <Toast.Viewport className="toasts">
          <Shown />
        </Toast.Viewport>
      </Toast.Portal>
    </Toast.Provider>
  );
}

function Shown() {
  const { toasts } = Toast.useToastManager();
  return toasts.map((toast) => (
    <Toast.Root key={toast.id} toast={toast} className={`note ${toast.type ?? ''}`}>
      <Toast.Content className="row">
        <Toast.Title />
        <Toast.Description />
        <Toast.Close className="button quiet" aria-label="Dismiss">
          ✕
        </Toast.Close>
      </Toast.Content>
    </Toast.Root>
  ));
}
