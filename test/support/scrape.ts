export interface Sample {
  /** Without `signing_gateway_`. */
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

/** What a scrape answered. */
export interface Scraped {
  readonly text: string;
  readonly samples: readonly Sample[];
  /** The value of the one sample with these labels at least; NaN when there is none. */
  value(name: string, labels?: Record<string, string>): number;
}

export async function scrape(adminUrl: string, headers: Record<string, string> = {}): Promise<Scraped> {
  const text = await (await fetch(`${adminUrl}/metrics`, { headers })).text();
  const samples = [...text.matchAll(/^signing_gateway_(\w+)(?:\{(.*)\})? (\S+)$/gm)].map(
    ([, name = '', labels = '', value]) => ({
      name,
      labels: Object.fromEntries(
        [...labels.matchAll(/(\w+)="([^"]*)"/g)].map(([, key = '', word = '']) => [key, word]),
      ),
      value: Number(value),
    }),
  );
  return {
    text,
    samples,
    value(name, labels = {}) {
      const found = samples.filter(
        (sample) => sample.name === name && Object.entries(labels).every(([key, word]) => sample.labels[key] === word),
      );
      if (found.length > 1) throw new Error(`${found.length} samples of ${name}`);
      return found[0]?.value ?? Number.NaN;
    },
  };
}
