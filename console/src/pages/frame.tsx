import { Link, lazyRouteComponent, Outlet, useNavigate, useRouterState } from '@tanstack/react-router';
import { Suspense, useEffect, useRef, useState } from 'react';
import { $api } from '../lib/api.ts';
import { actAs, signOut } from '../lib/hub.ts';
import { focusFilter, MODIFIER, useKeys } from '../lib/keys.ts';
import { OF_PLACE, type Place, remember, useNearestPlace, usePlace } from '../lib/place.ts';
import { useLive, useWho } from '../lib/session.ts';
import { toggleTheme } from '../lib/theme.ts';
import { Choice } from '../ui/choice.tsx';
import { Toasts, useToasts } from '../ui/toasts.tsx';
import { TaskTray } from './task-tray.tsx';

const LIVE = {
  connecting: ['busy', 'Connecting'],
  streaming: ['good', 'Live'],
  polling: ['warn', 'Live updates off: looking every 3 seconds'],
  off: ['', 'Offline'],
} as const;

const Palette = lazyRouteComponent(() => import('./palette.tsx'), 'Palette');
const KeyList = lazyRouteComponent(() => import('./palette.tsx'), 'KeyList');

/** What is around every page. */
export function Frame() {
  const place = usePlace();
  const nearest = useNearestPlace();
  const sections = useSections();
  return (
    <Toasts>
      <Announcer />
      <Acting />
      <div className="frame">
        <Bar place={place} nearest={nearest} sections={sections} />
        <Rail place={nearest} sections={sections} />
        <main id="main" tabIndex={-1}>
          {place && <MaintenanceNote region={place.region} />}
          <Outlet />
        </main>
      </div>
    </Toasts>
  );
}

/** Customers plan by it, before something is refused. */
function MaintenanceNote({ region }: { region: number }) {
  const { data } = $api.useQuery('get', '/cloud/v1/regions', {});
  const found = data?.results.find(({ id }) => id === region);
  if (found?.state !== 'MAINTENANCE') return null;
  return (
    <p className="note warn" role="status">
      {found.display_name} is in maintenance. What runs goes on, and you can delete. Other changes are refused for now,
      with the reason.
    </p>
  );
}

/** Tells screen readers that another page has opened, which they don't notice by themselves. */
function Announcer() {
  const text = useRef<HTMLParagraphElement>(null);
  const path = useRouterState({ select: ({ location }) => location.pathname });
  useEffect(() => {
    const timer = setTimeout(() => {
      const title = document.querySelector('main h1')?.textContent ?? path;
      document.title = `${title} · Tradewind`;
      if (text.current) text.current.textContent = title;
    }, 150);
    return () => clearTimeout(timer);
  }, [path]);
  return <p ref={text} className="hidden" aria-live="polite" />;
}

function Acting() {
  const who = useWho();
  const navigate = useNavigate();
  if (!who.acting) return null;
  const goBack = async () => {
    await actAs(undefined);
    void navigate({ to: '/admin/clients/$client', params: { client: String(who.clientId) } });
  };
  return (
    <div className="acting row" role="status">
      <strong>You act for {who.clientName}.</strong>
      <button type="button" className="button" onClick={() => void goBack()}>
        Back to your own account
      </button>
    </div>
  );
}

function Bar({ place, nearest, sections }: { place: Place | undefined; nearest: Place; sections: Sections }) {
  const who = useWho();
  const [look, text] = LIVE[useLive()];
  const said = useToasts();
  async function leave() {
    const { status } = await signOut().catch(() => ({ status: 0 }));
    if (status !== 204)
      said.add({
        title: 'You are still signed in',
        description: 'The server could not sign you out. Try again.',
        type: 'bad',
      });
  }
  return (
    <header className="bar">
      <a href="#main" className="hidden">
        Skip to the page
      </a>
      <Link to="/" className="brand">
        Tradewind
      </Link>
      {place && <PlaceChoice place={place} />}
      <div className="end">
        <Search place={nearest} sections={sections} leave={() => void leave()} />
        <TaskTray place={nearest} />
        <span className={`badge ${look}`} role="status">
          {text}
        </span>
        <button type="button" className="button quiet" onClick={toggleTheme} aria-label="Change between light and dark">
          ◐
        </button>
        <span className="muted">{who.email}</span>
        <button type="button" className="button" onClick={() => void leave()}>
          Sign out
        </button>
      </div>
    </header>
  );
}

/** Finds and opens what the console has, by a box to type in or by keys. */
function Search({ place, sections, leave }: { place: Place; sections: Sections; leave: () => void }) {
  const navigate = useNavigate();
  const [shown, show] = useState<'palette' | 'keys'>();
  const pages = sections.flatMap(([, entries]) => entries);
  useKeys({
    'Ctrl k': () => show('palette'),
    '/': focusFilter,
    '?': () => show('keys'),
    ...Object.fromEntries(
      pages.flatMap(([to, , letter]) =>
        letter ? [[`g ${letter}`, () => void navigate({ to, params: place as never })]] : [],
      ),
    ),
  });
  const close = () => show(undefined);
  return (
    <>
      <button type="button" className="button" aria-keyshortcuts="Control+K Meta+K" onClick={() => show('palette')}>
        Search … <kbd>{MODIFIER} K</kbd>
      </button>
      <Suspense>
        {shown === 'palette' && (
          <Palette
            place={place}
            sections={sections}
            actions={{
              'Change between light and dark': toggleTheme,
              'Show the keys': () => show('keys'),
              'Sign out': leave,
            }}
            onClose={close}
          />
        )}
        {shown === 'keys' && <KeyList sections={sections} onClose={close} />}
      </Suspense>
    </>
  );
}

function PlaceChoice({ place }: { place: Place }) {
  const navigate = useNavigate();
  const projects = $api.useQuery('get', '/cloud/v1/projects', { params: { query: { limit: 1000 } } });
  const mine = projects.data?.results.some(({ id }) => id === place.project) ?? false;
  useEffect(() => {
    if (mine) remember(place);
  }, [place, mine]);
  const regions = $api.useQuery('get', '/cloud/v1/regions', {});
  const go = (to: Partial<Place>) =>
    void navigate({ to: '.', params: { ...place, ...to } as never, search: {} as never });
  return (
    <div className="row">
      <Choice
        label="Project"
        value={String(place.project)}
        options={(projects.data?.results ?? []).map(({ id, name }) => ({ value: String(id), text: name }))}
        onChange={(id) => go({ project: Number(id) })}
      />
      <Choice
        label="Region"
        value={String(place.region)}
        options={(regions.data?.results ?? []).map(({ id, display_name }) => ({
          value: String(id),
          text: display_name,
        }))}
        onChange={(id) => go({ region: Number(id) })}
      />
    </div>
  );
}

/** What the rail leads to: a heading, and addresses with what they are called and the key that opens them after `g`. */
export type Sections = readonly (readonly [
  heading: string,
  entries: readonly (readonly [to: string, text: string, letter?: string])[],
])[];
const RAIL: Sections = [
  ['', [[OF_PLACE, 'Overview', 'o']]],
  ['Kubernetes', [[`${OF_PLACE}/clusters`, 'Clusters', 'c']]],
  ['Compute', [[`${OF_PLACE}/instances`, 'Instances', 'i']]],
  [
    'Network',
    [
      [`${OF_PLACE}/networks`, 'Networks', 'n'],
      [`${OF_PLACE}/topology`, 'Topology'],
      [`${OF_PLACE}/security-groups`, 'Security groups', 's'],
      [`${OF_PLACE}/reachability`, 'Reachability'],
      [`${OF_PLACE}/routers`, 'Routers'],
      [`${OF_PLACE}/floating-ips`, 'Floating IPs'],
      [`${OF_PLACE}/reserved-ips`, 'Reserved fixed IPs'],
      [`${OF_PLACE}/load-balancers`, 'Load balancers'],
    ],
  ],
  [
    'Storage',
    [
      [`${OF_PLACE}/volumes`, 'Volumes', 'v'],
      [`${OF_PLACE}/snapshots`, 'Snapshots'],
      [`${OF_PLACE}/file-shares`, 'File shares'],
      [`${OF_PLACE}/images`, 'Images'],
      [`${OF_PLACE}/ssh-keys`, 'SSH keys'],
      [`${OF_PLACE}/secrets`, 'Secrets'],
    ],
  ],
  ['AI', [['/ai-tasks', 'AI tasks', 'a']]],
  [
    'Work',
    [
      [`${OF_PLACE}/tasks`, 'Tasks', 't'],
      ['/operations', 'All operations'],
    ],
  ],
  [
    'Account',
    [
      ['/account/projects', 'Projects'],
      ['/account/quotas', 'Quotas'],
      ['/account/costs', 'Usage and costs'],
      ['/account/prices', 'Prices'],
      ['/account/budgets', 'Budgets'],
      ['/account/invoices', 'Invoices'],
      ['/account/billing', 'Billing'],
      ['/account/users', 'Users'],
      ['/account/sign-in', 'Sign-in'],
      ['/account/tokens', 'API tokens'],
      ['/account/logins', 'Your logins'],
      ['/account/audit', 'Audit'],
      ['/account/webhooks', 'Webhooks'],
      ['/account/features', 'Features'],
    ],
  ],
];
/** For resellers and the platform administrator: each with the operation that has to be allowed. */
const ADMINISTRATION = [
  // Everybody may search their own account. This is for those who have clients.
  ['/admin/find', 'Look up', 'listClients'],
  ['/admin/platform', 'Platform', 'listPlatformQueues'],
  ['/admin/maintenance', 'Maintenance', 'listMaintenances'],
  ['/admin/clients', 'Clients', 'listClients'],
  ['/admin/resellers', 'Resellers', 'listResellers'],
  ['/admin/prices', 'Price lists', 'listPriceLists'],
  ['/admin/notifications', 'Notifications', 'listNotificationSettings'],
  ['/admin/products', 'Products', 'listDefaultProducts'],
  // The test API is in no document. It is for the platform administrator, too.
  ['/admin/test', 'Faults and clock', 'listResellers'],
] as const;

/** Those of the pages that the person may use. */
function useSections(): Sections {
  const { data } = $api.useQuery('get', '/tradewind/v1/permissions', { params: { query: {} } });
  const allowed = ADMINISTRATION.filter(([, , needed]) => data?.refused.every(({ operation }) => operation !== needed));
  const administration = ['Administration', allowed.map(([to, text]) => [to, text] as const)] as const;
  return allowed.length > 0 ? [...RAIL, administration] : RAIL;
}

function Rail({ place, sections }: { place: Place; sections: Sections }) {
  const nav = useRef<HTMLElement>(null);
  const path = useRouterState({ select: ({ resolvedLocation }) => resolvedLocation?.pathname });
  useEffect(() => {
    const item = path !== undefined && sections.length > 0 && nav.current?.querySelector('[aria-current="page"]');
    if (nav.current && item) bringIntoView(item, nav.current);
  }, [path, sections]);
  const list = (entries: Sections[number][1]) => (
    <ul>
      {entries.map(([to, text]) => (
        <li key={to}>
          <Link
            to={to}
            params={place as never}
            activeOptions={{ exact: to === OF_PLACE, includeSearch: false }}
            activeProps={{ 'aria-current': 'page' }}
          >
            {text}
          </Link>
        </li>
      ))}
    </ul>
  );
  return (
    <div className="rail">
      <nav ref={nav} aria-label="Pages">
        {sections.map(([heading, entries]) =>
          heading === '' ? (
            <div key={heading}>{list(entries)}</div>
          ) : (
            <section key={heading} aria-label={heading}>
              <h2>{heading}</h2>
              {list(entries)}
            </section>
          ),
        )}
      </nav>
    </div>
  );
}

/** Scrolls only the box, and only if the item isn't in view: the page stays where it is. */
function bringIntoView(item: Element, box: Element): void {
  const [wanted, seen] = [item.getBoundingClientRect(), box.getBoundingClientRect()];
  const isIn =
    wanted.top >= seen.top && wanted.bottom <= seen.bottom && wanted.left >= seen.left && wanted.right <= seen.right;
  if (isIn) return;
  box.scrollBy(
    wanted.left + wanted.width / 2 - seen.left - seen.width / 2,
    wanted.top + wanted.height / 2 - seen.top - seen.height / 2,
  );
}
