import { useQuery } from '@tanstack/react-query';
import { useSpace } from '../space/space.tsx';
import { basePath } from '../url/page-values.ts';

interface Upload {
  /** Where it is downloaded. */
  readonly address: string;
  /** The bytes as a data URL. */
  readonly url: string;
}

/** Loads media of the space, which never change. They are cached briefly, as events are. */
export function useUpload(id: string) {
  const { id: spaceId } = useSpace();
  const address = `${basePath}/media/${spaceId}/${id}`;
  return useQuery({
    queryKey: ['media', spaceId, id],
    queryFn: async ({ signal }): Promise<Upload | null> => {
      const answer = await fetch(address, { signal });
      if (answer.status === 404) return null;
      if (!answer.ok) throw new Error(`${address} was answered with ${answer.status}`);
      return { address, url: await readDataUrl(await answer.blob()) };
    },
    select: (upload) => upload ?? undefined,
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 60_000,
  });
}

function readDataUrl(blob: Blob): Promise<string> {
  return new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.onload = () => resolve(String(reader.result));
    reader.onerror = () => reject(reader.error);
    reader.readAsDataURL(blob);
  });
}
