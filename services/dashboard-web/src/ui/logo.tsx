export function Logo() {
  return (
    <span className="flex items-center gap-2 font-semibold tracking-tight">
      <svg viewBox="0 0 32 32" className="size-6" aria-hidden="true">
        <rect width="32" height="32" rx="7" className="fill-accent" />
        <path
          d="M6 11c3.3 0 3.3 3 6.6 3s3.3-3 6.7-3 3.3 3 6.7 3M6 19c3.3 0 3.3 3 6.6 3s3.3-3 6.7-3 3.3 3 6.7 3"
          className="fill-none stroke-on-accent"
          strokeWidth="2.6"
          strokeLinecap="round"
        />
      </svg>
      Weir
    </span>
  );
}
