import { keepPreviousData } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import type { components } from '../../../types/api.d.ts';
import { $api } from '../../lib/api.ts';
import { type Place, pathOf } from '../../lib/place.ts';
import { Fault } from '../../ui/fault.tsx';
import { Money } from '../../ui/money.tsx';

const TYPING_MS = 200;
const HOURS = 720;

const PREVIEWS = {
  volumes: '/cloud/v1/pricing/{project_id}/{region_id}/volumes',
  file_shares: '/cloud/v1/pricing/{project_id}/{region_id}/file_shares',
  images: '/cloud/v1/pricing/{project_id}/{region_id}/images',
} as const;
export type PriceQuestion = components['schemas']['VolumePriceRequest'];
interface Questions {
  volumes: PriceQuestion;
  file_shares: components['schemas']['FileSharePriceRequest'];
  images: components['schemas']['ImagePriceRequest'];
}
type Price = components['schemas']['VolumePrice'];

/** The value as it was when nothing had changed for a while. */
function useSettled(text: string): string {
  const [settled, settle] = useState(text);
  useEffect(() => {
    const timer = setTimeout(() => settle(text), TYPING_MS);
    return () => clearTimeout(timer);
  }, [text]);
  return settled;
}

/**
 * What something costs that is stored, by the API. An answer is kept under its question, so that one that comes late is never shown for another
 * question. Until the right one is there, the old one is greyed.
 */
export function StoragePrice<Kind extends keyof Questions>({
  place,
  kind,
  of,
  unasked = 'Enter a size to see the price.',
}: {
  place: Place;
  kind: Kind;
  of: Questions[Kind] | undefined;
  /** What is said while nothing can be asked. */
  unasked?: string;
}) {
  const now = JSON.stringify(of ?? null);
  const settled = useSettled(now);
  const { data, error, isPlaceholderData, refetch } = $api.useQuery(
    'post',
    // All of them answer the same.
    PREVIEWS[kind] as typeof PREVIEWS.volumes,
    { params: { path: pathOf(place) }, body: JSON.parse(settled) as PriceQuestion },
    { enabled: settled !== 'null', placeholderData: keepPreviousData },
  );
  const old = isPlaceholderData || settled !== now;
  return (
    <section className="card" aria-labelledby="price" aria-busy={old && of !== undefined}>
      <header>
        <h2 id="price">Price</h2>
        {old && of && <span className="muted">asking …</span>}
      </header>
      <div className={`inside page ${old ? 'old' : ''}`}>
        {!of && <p className="muted">{unasked}</p>}
        {of && error && !old && <Fault error={error} again={() => void refetch()} />}
        {of && !error && !data && <p className="muted">Asking …</p>}
        {of && data && <Amounts of={data} />}
      </div>
    </section>
  );
}

/** What a volume costs, in one line. */
export function PricePerMonth({ place, of }: { place: Place; of: PriceQuestion }) {
  const { data, isPending } = $api.useQuery('post', PREVIEWS.volumes, {
    params: { path: pathOf(place) },
    body: of,
  });
  if (data?.price_status !== 'show') return <span className="muted">{isPending ? 'Reading …' : 'not known'}</span>;
  return (
    <>
      <Money amount={data.price_per_month} currency={data.currency_code} /> a month
    </>
  );
}

const percent = (share: number): string =>
  new Intl.NumberFormat(undefined, { style: 'percent', maximumFractionDigits: 2 }).format(share);

function Amounts({ of }: { of: Price }) {
  const {
    price_status: status,
    currency_code: currency,
    price_per_month: month,
    price_per_hour: hour,
    price_without_discount_per_month: full,
    discount_percent: discount,
    tax_percent: tax,
  } = of;
  if (status === 'hide') return <p>The prices are hidden from this account. It can still be created.</p>;
  if (status === 'error') return <p>This region has no price for this. Ask whoever runs the platform.</p>;
  return (
    <>
      <dl className="facts">
        <dt>Month</dt>
        <dd>
          <strong>
            <Money amount={month} currency={currency} />
          </strong>
        </dd>
        <dt>Hour</dt>
        <dd>
          <Money amount={hour} currency={currency} />
        </dd>
        <dt>Discount</dt>
        <dd>{discount ? percent(discount) : 'none'}</dd>
        <dt>Tax included</dt>
        <dd>{percent(tax / 100)}</dd>
      </dl>
      <details>
        <summary>How it is counted</summary>
        <p>
          <Money amount={full} currency={currency} /> a month without a discount
          {discount ? `, less ${percent(discount)}` : ''}: that is {HOURS} hours of{' '}
          <Money amount={hour} currency={currency} />. A tax of {percent(tax / 100)} is in all of them.
        </p>
      </details>
    </>
  );
}
