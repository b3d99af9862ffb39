/* The picture of the request that the page's own address carries. */
const planet = document.getElementById("planet");
if (location.search)
    planet.src = "/planet" + location.search;
