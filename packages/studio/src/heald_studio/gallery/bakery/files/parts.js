class SiteHeader extends HTMLElement {
  connectedCallback() {
    this.innerHTML = `
      <header class="site-header">
        <div class="wrap">
          <a class="site-name" href="index.html">Ember &amp; Rye</a>
          <nav aria-label="Pages">
            <a href="index.html">Home</a>
            <a href="menu.html">Menu</a>
            <a href="visit.html">Visit</a>
          </nav>
        </div>
      </header>`;
  }
}

class SiteFooter extends HTMLElement {
  connectedCallback() {
    this.innerHTML = `
      <footer class="site-footer">
        <div class="wrap">Ember &amp; Rye, 14 Mill Lane. Open Tuesday to Sunday, 7:00 to 15:00.</div>
      </footer>`;
  }
}

customElements.define("site-header", SiteHeader);
customElements.define("site-footer", SiteFooter);
