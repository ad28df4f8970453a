import { Link } from '@tanstack/react-router';
import { useFilters } from '../lib/search.ts';

/** The tab in the address, or the first one. */
export function useTab<Tab extends string>(tabs: Readonly<Partial<Record<Tab, string>>>): Tab {
  const { tab } = useFilters();
  const names = Object.keys(tabs) as Tab[];
  return names.find((one) => one === tab) ?? (names[0] as Tab);
}

/** Parts of one page, each with an address of its own. */
export function Tabs({ tabs, label }: { tabs: Readonly<Record<string, string>>; label: string }) {
  const shown = useTab(tabs);
  return (
    <nav className="tabs" aria-label={label}>
      {Object.entries(tabs).map(([tab, text]) => (
        <Link
          key={tab}
          to="."
          search={{ tab } as never}
          resetScroll={false}
          aria-current={tab === shown ? 'page' : undefined}
        >
          {text}
        </Link>
      ))}
    </nav>
  );
}
