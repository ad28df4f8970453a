import './ui/base.css';
import { CSPProvider } from '@base-ui/react/csp-provider';
import { QueryClientProvider } from '@tanstack/react-query';
import { RouterProvider } from '@tanstack/react-router';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { queries } from './lib/api.ts';
import { connect } from './lib/hub.ts';
import { followChanges } from './lib/live.ts';
import { useSession } from './lib/session.ts';
import { FreshCodes, Join, SignIn, takeFragment, useFreshCodes, useInvitation } from './pages/sign-in.tsx';
import { router } from './router.tsx';
import { identityOf } from './worker/messages.ts';

function Console() {
  const session = useSession();
  const invitation = useInvitation();
  const codes = useFreshCodes();
  if (!session) return <p className="gate muted">Connecting …</p>;
  if (invitation) return <Join key={invitation} invitation={invitation} />;
  if (session.who && codes) return <FreshCodes codes={codes} />;
  // Nothing that somebody has entered or read is there for the next one.
  return session.who ? <RouterProvider key={identityOf(session)} router={router} /> : <SignIn />;
}

connect();
followChanges(() => void router.navigate({ to: '/' }));
takeFragment();
// An address that differs in nothing else loads no page.
addEventListener('hashchange', takeFragment);
createRoot(document.getElementById('console') as HTMLElement).render(
  <StrictMode>
    <CSPProvider disableStyleElements>
      <QueryClientProvider client={queries}>
        <Console />
      </QueryClientProvider>
    </CSPProvider>
  </StrictMode>,
);
