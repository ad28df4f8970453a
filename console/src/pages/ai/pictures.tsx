import { type ReactNode, useEffect, useMemo, useRef, useState } from 'react';
import { flushSync } from 'react-dom';
import { Drawer } from '../../ui/drawer.tsx';
import { CheckField } from '../../ui/field.tsx';

/** What was found in a frame. Frames are numbered at the film’s own rate. */
export interface Finding {
  label: string;
  frame_number: number;
  confidence: number;
}

export const percent = (share: number): string => `${Math.round(share * 100)} %`;

/** When a frame is shown, such as 01:23. */
export function timeOf(frame: number, rate: number): string {
  const seconds = Math.floor(frame / rate);
  return [Math.floor(seconds / 60), seconds % 60].map((part) => String(part).padStart(2, '0')).join(':');
}

const STEP = 12;
/** Stands for the picture of a frame that the browser can’t show. */
const UNDRAWN = '';

/** The frames of these findings, which are sorted, as pictures. */
export function Pictures({
  address,
  rate,
  findings,
  children,
}: {
  /** Of the file, in this browser. */
  address: string;
  rate: number;
  findings: readonly Finding[];
  /** Shown instead where there is no picture. */
  children: ReactNode;
}) {
  const [most, setMost] = useState(STEP);
  const [blurred, setBlurred] = useState(true);
  const list = useRef<HTMLUListElement>(null);
  const frames = useMemo(() => [...Map.groupBy(findings, ({ frame_number }) => frame_number)], [findings]);
  const shown = useMemo(() => frames.slice(0, most), [frames, most]);
  const { pictures, unplayable } = usePictures(address, rate, shown);
  if (unplayable || frames.length === 0)
    return (
      <>
        {unplayable && (
          <div className="inside">
            <p className="note bad" role="alert">
              This browser can’t play the file.
            </p>
          </div>
        )}
        {children}
      </>
    );

  function showMore() {
    flushSync(() => setMost(most + STEP));
    list.current?.children[most]?.querySelector('button')?.focus();
  }

  const blur = <CheckField label="Blur the pictures" value={blurred} onChange={setBlurred} />;
  return (
    <div className="inside page">
      {blur}
      <ul ref={list} className={blurred ? 'pictures blurred' : 'pictures'}>
        {shown.map(([frame, found]) => (
          <li key={frame}>
            <Picture
              frame={frame}
              at={timeOf(frame, rate)}
              found={found}
              address={pictures.get(frame)}
              blurred={blurred}
            >
              {blur}
            </Picture>
          </li>
        ))}
      </ul>
      <div className="row">
        <span className="muted">
          {shown.length} of {frames.length} frames, the surest first.
        </span>
        {shown.length < frames.length && (
          <button type="button" className="button" onClick={showMore}>
            Show more
          </button>
        )}
      </div>
    </div>
  );
}

function Picture({
  frame,
  at,
  found,
  address,
  blurred,
  children,
}: {
  frame: number;
  at: string;
  found: readonly Finding[];
  address: string | undefined;
  blurred: boolean;
  children: ReactNode;
}) {
  const button = useRef<HTMLButtonElement>(null);
  const [open, setOpen] = useState(false);
  const name = `Frame ${frame} at ${at}`;
  const lines = found.map(({ label, confidence }) => `${label} ${percent(confidence)}`);
  const missing = address === UNDRAWN ? `${name} can’t be drawn.` : `${name} is being drawn …`;
  const picture = address ? <img src={address} alt={`${name}: ${lines.join(', ')}`} /> : missing;
  return (
    <figure>
      <button ref={button} type="button" aria-haspopup="dialog" onClick={() => setOpen(true)}>
        {picture}
      </button>
      <figcaption>
        <span className="muted">{name}</span>
        <span>{lines.join('\n')}</span>
      </figcaption>
      <Drawer open={open} onOpenChange={setOpen} opener={button} title={name}>
        <p>{lines.join(', ')}</p>
        {children}
        <div className={blurred ? 'picture blurred' : 'picture'}>{picture}</div>
      </Drawer>
    </figure>
  );
}

/** Pictures of these frames, as they are drawn; or whether the browser can’t play the file. */
function usePictures(address: string, rate: number, frames: readonly (readonly [number, unknown])[]) {
  const [film, setFilm] = useState<Film>();
  const [pictures, setPictures] = useState<ReadonlyMap<number, string>>(new Map());
  const [unplayable, setUnplayable] = useState(false);
  useEffect(() => {
    const opened = openFilm(address, rate);
    setFilm(opened);
    return opened.close;
  }, [address, rate]);
  useEffect(() => {
    let wanted = true;
    async function drawFrom(opened: Film) {
      if (frames.length > 0) await opened.ready;
      for (const [frame] of frames) {
        const picture = await opened.picture(frame).catch(() => UNDRAWN);
        if (!wanted) return;
        setPictures((before) => (before.has(frame) ? before : new Map(before).set(frame, picture)));
      }
    }
    if (film) drawFrom(film).catch(() => wanted && setUnplayable(true));
    return () => {
      wanted = false;
    };
  }, [film, frames]);
  return { pictures, unplayable };
}

type Film = ReturnType<typeof openFilm>;

/** A film, or a still picture. It is at one place at a time, so frames are drawn one after another, each once. */
function openFilm(address: string, rate: number) {
  const film = document.createElement('video');
  Object.assign(film, { src: address, muted: true, playsInline: true, preload: 'auto' });
  const pictures = new Map<number, Promise<string>>();
  const opened = sourceOf(film);
  // The caller of `ready` or `picture` gets the fault.
  let last: Promise<unknown> = opened.catch(() => undefined);

  async function drawn(frame: number): Promise<string> {
    const source = await opened;
    // Its middle, since the times of frames are rounded.
    if (source === film) await seek(film, (frame + 0.5) / rate, 1 / rate);
    return URL.createObjectURL(await copyOf(source));
  }
  return {
    /** Rejects if the browser can’t play the film. */
    ready: opened,
    /** @throws if the browser can’t show it */
    picture(frame: number): Promise<string> {
      const picture = pictures.get(frame) ?? last.then(() => drawn(frame));
      if (!pictures.has(frame)) last = picture.catch(() => undefined);
      pictures.set(frame, picture);
      return picture;
    },
    close() {
      film.removeAttribute('src');
      film.load();
      for (const picture of pictures.values()) picture.then(URL.revokeObjectURL, () => undefined);
    },
  };
}

/** Waits for an event of a film. @throws if the film can’t be played */
const heard = (film: HTMLVideoElement, event: 'onloadeddata' | 'onseeked') =>
  new Promise<unknown>((resolve, reject) => {
    const refuse = () => reject(new Error('This browser can’t play the file'));
    film[event] = resolve;
    film.onerror = refuse;
    if (film.error) refuse();
  });

async function sourceOf(film: HTMLVideoElement): Promise<HTMLVideoElement | HTMLImageElement> {
  const plays = await heard(film, 'onloadeddata').then(
    () => film.videoWidth > 0,
    () => false,
  );
  if (plays) return film;
  const still = new Image();
  still.src = film.src;
  await still.decode();
  return still;
}

/** A frame that isn’t shown within this time is taken to be the one that was shown before, or to have a time of its own. */
const SHOWN_MS = 300;

/** Goes to a time, and waits until a frame of it is there to be drawn, which may be after the browser says that it is there. */
async function seek(film: HTMLVideoElement, seconds: number, tolerance: number): Promise<void> {
  const there = heard(film, 'onseeked');
  const shown = new Promise<void>((resolve) => {
    const look = () =>
      film.requestVideoFrameCallback?.((_, { mediaTime }) =>
        Math.abs(mediaTime - seconds) <= tolerance ? resolve() : look(),
      );
    look();
  });
  film.currentTime = seconds;
  await there;
  await Promise.race([shown, new Promise((resolve) => setTimeout(resolve, SHOWN_MS))]);
}

const WIDEST = 1_280;

async function copyOf(source: HTMLVideoElement | HTMLImageElement): Promise<Blob> {
  const [width, height] =
    source instanceof HTMLVideoElement
      ? [source.videoWidth, source.videoHeight]
      : [source.naturalWidth, source.naturalHeight];
  const scale = Math.min(1, WIDEST / width);
  const canvas = new OffscreenCanvas(Math.ceil(width * scale), Math.ceil(height * scale));
  canvas.getContext('2d')?.drawImage(source, 0, 0, canvas.width, canvas.height);
  return canvas.convertToBlob({ type: 'image/jpeg', quality: 0.9 });
}
